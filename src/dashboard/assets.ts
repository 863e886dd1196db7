import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PICTURE_STYLE } from "../shared/views/night-picture.ts";
import { PAGE_STYLE } from "../shared/views/page-picture.ts";
import { SECTION_STYLE } from "../shared/views/section-style.ts";

const TYPES = {
  "desk.css": "text/css; charset=utf-8",
  "desk.js": "text/javascript; charset=utf-8",
  "live.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

export type Assets = {
  /** Changes with any of the files. */
  readonly version: string;
  readonly find: (name: string) => { readonly type: string; readonly body: string } | undefined;
};

/** Reads the style and scripts of the pages from the package. */
export async function readAssets(packageRoot: string): Promise<Assets> {
  const names = Object.keys(TYPES) as (keyof typeof TYPES)[];
  const folder = join(packageRoot, "assets", "dashboard");
  const files = new Map<string, { readonly type: string; readonly body: string }>();
  const hash = createHash("sha256");
  for (const name of names) {
    const text = await readFile(join(folder, name), "utf8");
    const body = name === "desk.css" ? text + SECTION_STYLE + PICTURE_STYLE + PAGE_STYLE : text;
    hash.update(body);
    files.set(name, { type: TYPES[name], body });
  }
  return {
    version: hash.digest("hex").slice(0, 12),
    find: (name) => files.get(name),
  };
}
