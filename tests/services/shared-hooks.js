export { load } from "../typescript-hooks.js";

const globals = new URL("shared-globals.js", import.meta.url).href;

/** Outside of its own registry jest has no `@jest/globals`. */
export function resolve(specifier, context, nextResolve) {
  if (specifier === "@jest/globals") return { url: globals, shortCircuit: true };
  return nextResolve(specifier, context);
}
