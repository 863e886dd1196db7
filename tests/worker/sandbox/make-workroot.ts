import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { extractText } from "../../support/read-documents.ts";
import { openSandbox } from "../../../src/worker/sandbox/open-sandbox.ts";
import type { Reading, Sandbox } from "../../../src/worker/sandbox/open-sandbox.ts";
import type { KnownAttachment } from "../../../src/worker/sandbox/suggest-names.ts";
import type { SecurityPolicy } from "../../../src/worker/sandbox/policy.ts";
import type { Refusal } from "../../../src/shared/failure.ts";
import { policyOver } from "../../support/security-policy.ts";

export const SECRET = "outside content that must never be returned";

/** A temporary folder with `work/`, the security root, and `outside/secret.md` beside it. */
export type Workroot = {
  readonly folder: string;
  readonly work: string;
  /** Writes a file below the work root, with its folders, and gives its absolute path. */
  write(path: string, content?: string | Buffer): string;
  policy(changes?: Partial<SecurityPolicy>): SecurityPolicy;
  /** @param attachments what is known to lie in mails */
  open(
    changes?: Partial<SecurityPolicy>,
    attachments?: readonly KnownAttachment[],
  ): Promise<Sandbox>;
  /** Opens a sandbox, reads one path with it, and closes it. */
  read(path: string, changes?: Partial<SecurityPolicy>): Promise<Reading>;
  /** What this process has open in the folder, in order, once for each descriptor. What else it has open is not its own. */
  openFiles(): readonly string[];
  /** Closes the sandboxes opened so far. */
  close(): void;
  remove(): void;
};

/** What a descriptor of this process leads to; undefined of one that is closed by now. */
function placeOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

export function makeWorkroot(): Workroot {
  const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
  const work = join(folder, "work");
  const opened: Sandbox[] = [];
  const write = (path: string, content: string | Buffer = `content of ${path}`): string => {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), content);
    return join(work, path);
  };
  mkdirSync(join(work, "allowed"), { recursive: true });
  mkdirSync(join(folder, "outside"));
  writeFileSync(join(folder, "outside", "secret.md"), SECRET);
  const policy = (changes: Partial<SecurityPolicy> = {}): SecurityPolicy =>
    policyOver(work, {
      allowedRoots: ["allowed"],
      allowedExts: [".md", ".txt", ".json"],
      ...changes,
    });
  const open = async (
    changes?: Partial<SecurityPolicy>,
    attachments: readonly KnownAttachment[] = [],
  ): Promise<Sandbox> => {
    const known = async () => attachments;
    const sandbox = await openSandbox(policy(changes), extractText, { attachments: known });
    opened.push(sandbox);
    return sandbox;
  };
  const close = (): void => {
    for (const sandbox of opened.splice(0)) sandbox.close();
  };
  const openFiles = (): readonly string[] => {
    const below = `${realpathSync(folder)}/`;
    return readdirSync("/proc/self/fd")
      .map(placeOf)
      .filter((place) => place !== undefined)
      .filter((place) => place.startsWith(below))
      .sort();
  };
  return {
    folder,
    work,
    openFiles,
    write,
    policy,
    open,
    read: async (path, changes) => (await open(changes)).readTextFile({ path, maxChars: 12_000 }),
    close,
    remove: () => {
      close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The code of a refusal, or what came instead, so that a failing assertion shows it. */
export const codeOf = (outcome: { readonly kind: string } | Refusal): string =>
  "code" in outcome ? outcome.code : outcome.kind;

export const messageOf = (outcome: { readonly kind: string } | Refusal): string =>
  "message" in outcome ? outcome.message : "";
