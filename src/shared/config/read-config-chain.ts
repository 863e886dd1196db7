import { dirname } from "node:path";
import { resolveConfigName, showFile } from "./choose-config-file.ts";
import type { ConfigRequest } from "./choose-config-file.ts";
import { overlay } from "./config-tree.ts";
import type { ConfigTree, Mapping, Place } from "./config-tree.ts";
import { configFailure, quote } from "./problem.ts";
import { readSmallFile } from "./read-small-file.ts";
import { readYaml } from "./read-yaml.ts";

const MAX_BYTES = 64 * 1024;
const MAX_FILES = 8;
const IMPLIED_BASE = "nightdesk:embedded";

type Step = { readonly file: string; readonly place: Place };

/**
 * The file and what it extends, base first, laid over each other. `extends:` takes a path relative to the file
 * that says it, `nightdesk:default` or `nightdesk:embedded`; without it a file extends `nightdesk:embedded`, and
 * with `extends: null` it stands alone.
 *
 * @param namedBy the flag or variable that named the file, null where it was found
 * @throws Failure CONFIG_ERROR for a file that can't be read or parsed, a cycle, or more than 8 files
 */
export async function readConfigChain(
  file: string,
  namedBy: string | null,
  request: ConfigRequest,
): Promise<Mapping> {
  const layers: Mapping[] = [];
  const chain: string[] = [];
  let next: Step | null = { file, place: { origin: namedBy ?? showFile(file, request) } };
  while (next !== null) {
    checkChain([...chain, next.file], next.place, request);
    chain.push(next.file);
    const layer = await readLayer(next, request);
    layers.unshift(layer.own);
    next = layer.base;
  }
  return layers.reduce(overlay);
}

function checkChain(chain: readonly string[], place: Place, request: ConfigRequest): void {
  const [last] = chain.slice(-1);
  const path = chain.map((file) => showFile(file, request)).join(" → ");
  if (last !== undefined && chain.indexOf(last) < chain.length - 1) {
    throw configFailure([{ place, text: `extends itself: ${path}; take one extends away` }]);
  }
  if (chain.length > MAX_FILES) {
    throw configFailure([
      { place, text: `extends more than ${MAX_FILES - 1} files: ${path}; take some together` },
    ]);
  }
}

async function readLayer(
  { file, place }: Step,
  request: ConfigRequest,
): Promise<{ own: Mapping; base: Step | null }> {
  const shown = showFile(file, request);
  const content = await readSmallFile(file, MAX_BYTES);
  if (content.kind !== "text") {
    const reason = content.kind === "missing" ? "does not exist" : content.reason;
    const text = `the configuration file ${quote(shown)} ${reason}; expected a YAML file of at most ${MAX_BYTES} bytes`;
    throw configFailure([{ place, text }]);
  }
  const tree = asMapping(readYaml(content.text, shown));
  const { extends: base, own } = splitExtends(tree);
  const name = baseName(base);
  if (name === null) return { own, base: null };
  const basePlace = base?.place ?? { origin: shown };
  return { own, base: { file: resolveConfigName(name, dirname(file), request), place: basePlace } };
}

/** A file of nothing but comments sets nothing. */
function asMapping(tree: ConfigTree): Mapping {
  if (tree.kind === "mapping") return tree;
  if (tree.kind === "scalar" && tree.value === null) {
    return { kind: "mapping", entries: new Map(), place: tree.place };
  }
  const text = `the file holds a ${tree.kind === "list" ? "list" : "single value"}; expected keys, like "log: { level: info }"`;
  throw configFailure([{ place: tree.place, text }]);
}

function splitExtends(tree: Mapping): { extends: ConfigTree | undefined; own: Mapping } {
  const entries = new Map(tree.entries);
  entries.delete("extends");
  return { extends: tree.entries.get("extends"), own: { ...tree, entries } };
}

function baseName(base: ConfigTree | undefined): string | null {
  if (base === undefined) return IMPLIED_BASE;
  if (base.kind === "scalar" && base.value === null) return null;
  if (base.kind === "scalar" && typeof base.value === "string" && base.value.trim() !== "") {
    return base.value;
  }
  const text =
    "extends is no file name; expected a path, nightdesk:default, nightdesk:embedded or null";
  throw configFailure([{ place: base.place, text }]);
}
