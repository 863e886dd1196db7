// Loaded into the process of a model before all else: the optional package is not installed.
import { register } from "node:module";

register(
  `data:text/javascript,${encodeURIComponent(`
    export async function resolve(specifier, context, next) {
      if (specifier !== "@huggingface/transformers") return next(specifier, context);
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    }`)}`,
);
