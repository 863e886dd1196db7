import type { Config } from "../../shared/config/schema.ts";
import { withoutAlias } from "../../shared/route-models.ts";
import { fullName } from "./ollama-host.ts";

type NameConfig = { readonly model: Pick<Config["model"], "aliases" | "name"> };

/** Whether this is model.name, which model.digest pins, by whichever key or spelling it is asked for. */
export const isPinned = (name: string, { model }: NameConfig): boolean =>
  model.name !== null &&
  fullName(withoutAlias(model.name, model)) === fullName(withoutAlias(name, model));
