import { isRecord } from "../schema/json-value.ts";
import { dottedKey } from "./config-tree.ts";
import type { KeyPath } from "./config-tree.ts";
import { maskUrl, maskWebhook } from "./mask-url.ts";
import { configSchema } from "./schema.ts";
import type { Config } from "./schema.ts";

/** One effective value; `origin` is a file, `environment NAME` or `flag --name`. */
type ShownValue = { readonly key: string; readonly value: unknown; readonly origin: string };

/** Every value in the order of the schema, passwords masked. */
export function showConfig(config: Config): ShownValue[] {
  const shown = { ...config, hosts: withoutHeaders(config.hosts) };
  const written = Object.entries(shown).filter(([key]) => Object.hasOwn(configSchema.shape, key));
  return written
    .flatMap(([key, value]) => leavesOf(value, [key]))
    .map(({ key, value }) => ({
      key,
      value: typeof value === "string" ? maskText(key, value) : maskParts(value),
      origin: config.origins.get(key) ?? config.file,
    }));
}

function maskText(key: string, value: string): unknown {
  if (key === "dashboard.token" || key === "on_batch_end.secret") return "***";
  return key === "on_batch_end.webhook" ? maskWebhook(value) : maskParts(value);
}

/** Masks the headers of hosts, which often contain keys. */
const withoutHeaders = (hosts: Config["hosts"]): readonly unknown[] =>
  hosts.map(({ headers, ...host }) => ({
    ...host,
    ...(headers === undefined
      ? {}
      : { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, "***"])) }),
  }));

type Leaf = { readonly key: string; readonly value: unknown };

function leavesOf(value: unknown, path: KeyPath): Leaf[] {
  const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
  const entries = isMapping ? Object.entries(value) : [];
  if (entries.length === 0) return [{ key: dottedKey(path), value }];
  return entries.flatMap(([key, part]) => leavesOf(part, [...path, key]));
}

/** Masks all variables of a configured program: any of them may be a key. */
const maskVariables = (variables: unknown): unknown =>
  isRecord(variables)
    ? Object.fromEntries(Object.keys(variables).map((name) => [name, "***"]))
    : variables;

/** Masks passwords in URLs at any depth, also in the command of a schedule. */
function maskParts(value: unknown): unknown {
  if (typeof value === "string") return maskUrl(value);
  if (Array.isArray(value)) return value.map(maskParts);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === "env" ? maskVariables(part) : maskParts(part),
    ]),
  );
}
