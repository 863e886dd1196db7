import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import type { Config } from "../../../src/shared/config/schema.ts";

export const packageRoot = resolve(import.meta.dirname, "..", "..", "..");

type Request = Parameters<typeof loadConfig>[0];

export type Scratch = {
  readonly folder: string;
  /** Writes a file, with the folders above it; gives its absolute path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
  /** Loads as a command would that runs in this folder. */
  load(request?: Partial<Pick<Request, "flags" | "env" | "cwd">>): Promise<Config>;
  /** The message of the CONFIG_ERROR that loading ends with. */
  loadError(request?: Partial<Pick<Request, "flags" | "env" | "cwd">>): Promise<string>;
  remove(): Promise<void>;
};

/** A folder of a test's own, below nothing that holds a nightdesk.yaml. */
export async function makeScratch(): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), "nightdesk-config-"));
  const load: Scratch["load"] = (request = {}) =>
    loadConfig({ flags: {}, env: {}, cwd: folder, packageRoot, ...request });
  return {
    folder,
    async write(name, content) {
      const file = join(folder, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      return file;
    },
    load,
    loadError: (request) => errorOf(load(request)),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The message of the CONFIG_ERROR that a promise is rejected with; anything else fails the test. */
export async function errorOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "CONFIG_ERROR") {
      return error.message;
    }
    throw error;
  }
  throw new Error("expected a CONFIG_ERROR, and nothing was thrown");
}
