import { join } from "node:path";
import type { Desk } from "../producer/desk.ts";
import { indexSources } from "../../src/worker/index/index-sources.ts";
import { bindSources } from "../../src/worker/index/sources.ts";
import { openOffload } from "../../src/worker/offload/offload.ts";
import { openSandbox } from "../../src/worker/sandbox/open-sandbox.ts";
import { readerFingerprint } from "../../src/worker/documents/formats/registry.ts";
import { extractText, READER_LIMITS } from "./read-documents.ts";
import { policyOver } from "./security-policy.ts";

const EXTENSIONS = [".md", ".txt", ".eml", ".mbox"];

/** Indexes the source `corpus` of a desk, as its worker would. */
export async function indexDesk({ database, workroot }: Desk): Promise<void> {
  const sandbox = await openSandbox(
    policyOver(workroot, { allowedRoots: [join(workroot, "allowed")], allowedExts: EXTENSIONS }),
    extractText,
  );
  const source = {
    name: "corpus",
    root: "allowed/corpus",
    exts: undefined,
    language: "english",
  } as const;
  const offload = openOffload();
  try {
    await indexSources(
      {
        db: database,
        sources: bindSources(sandbox, [source], workroot),
        extensions: EXTENSIONS,
        chunking: { maxChars: 600, overlap: 40 },
        reader: readerFingerprint(READER_LIMITS),
        offload,
      },
      {
        rebuild: false,
        pruneOfEmptyRoot: "never",
        signal: new AbortController().signal,
        onProgress: () => undefined,
      },
    );
    // Written a moment ago, the files would be read again to be sure of them.
    await database.query("update nightdesk_data.documents set settled = true");
  } finally {
    sandbox.close();
  }
}
