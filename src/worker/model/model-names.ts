import type { Config } from "../../shared/config/schema.ts";
import { fullName } from "./ollama-host.ts";

type NameConfig = { readonly model: Pick<Config["model"], "aliases" | "name"> };

/** The name that model.aliases gives for this one; itself where it gives none. */
export const withoutAlias = (name: string, { model: { aliases } }: NameConfig): string =>
  (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name;

/** Whether this is model.name, which model.digest pins, by whichever key or spelling it is asked for. */
export const isPinned = (name: string, config: NameConfig): boolean =>
  config.model.name !== null &&
  fullName(withoutAlias(config.model.name, config)) === fullName(withoutAlias(name, config));
