import { readSecret } from "./read-secret.ts";
import { canUseTool, WEB_TOOLS } from "./tool-presets.ts";
import type { Config } from "./schema.ts";

const MOST_KEY_BYTES = 4_096;

/** The key of the search provider, null if it needs none; or why it is missing, as a sentence. It is never stored or logged. */
export async function readSearchKey(
  { tools, roots }: Pick<Config, "tools" | "roots">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<
  | { readonly kind: "key"; readonly key: string | null }
  | { readonly kind: "missing"; readonly why: string }
> {
  const { key_env: variable, key_file: file } = tools.web.search;
  const place = { variable, file, folder: roots.configRoot, maxBytes: MOST_KEY_BYTES };
  const key = await readSecret(place, env);
  if (key !== "") return { kind: "key", key };
  return {
    kind: "missing",
    why:
      variable === null
        ? "tools.web.search.key_file holds no key."
        : `the variable ${variable} (tools.web.search.key_env) holds no key.`,
  };
}

/** Why web searches would lack a key in this process; undefined if they have one, or if the web or its search is off. */
export async function findKeyFault(
  config: Pick<Config, "tools" | "roots">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const { enabled, search } = config.tools.web;
  if (!enabled || search.provider === null) return undefined;
  const read = await readSearchKey(config, env);
  return read.kind === "missing" ? read.why : undefined;
}

/**
 * A hint that web searches would lack a key in this process, if an investigation with one of the presets may search; else null.
 * A worker that was started elsewhere may have the key.
 */
export async function searchKeyHint(
  config: Pick<Config, "tools" | "roots">,
  env: Readonly<Record<string, string | undefined>>,
  presets: Iterable<string | undefined>,
): Promise<string | null> {
  const { presets: own } = config.tools;
  if (!Array.from(presets).some((name) => canUseTool(WEB_TOOLS.search, name, own))) return null;
  const fault = await findKeyFault(config, env);
  return fault === undefined
    ? null
    : `${WEB_TOOLS.search} needs a key, which the worker may have; here ${fault}`;
}
