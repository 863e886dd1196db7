import { join } from "node:path";
import type { Database } from "../src/shared/store/connection/database.ts";
import { bindSources } from "../src/worker/index/sources.ts";
import { indexSources } from "../src/worker/index/index-sources.ts";
import type { IndexSummary } from "../src/worker/index/index-sources.ts";
import { openOffload } from "../src/worker/offload/offload.ts";
import { readerFingerprint } from "../src/worker/documents/formats/registry.ts";
import { extractText, READER_LIMITS } from "../tests/support/read-documents.ts";
import { openSandbox } from "../src/worker/sandbox/open-sandbox.ts";
import { policyOver } from "../tests/support/security-policy.ts";

const SOURCE = { name: "corpus", root: "corpus", language: "auto" } as const;
const EXTENSIONS = [".md", ".txt", ".json"];

/** Indexes the folder `corpus` of a work root with the default settings. */
export async function indexFolder(
  db: Database,
  workroot: string,
  rebuild: boolean,
): Promise<IndexSummary> {
  const sandbox = await openSandbox(
    policyOver(workroot, {
      allowedRoots: [join(workroot, "corpus")],
      allowedExts: EXTENSIONS,
      maxFileBytes: 5_000_000,
    }),
    extractText,
  );
  const sources = bindSources(sandbox, [SOURCE], workroot);
  try {
    return await indexSources(
      {
        db,
        sources,
        extensions: EXTENSIONS,
        chunking: { maxChars: 1_200, overlap: 150 },
        reader: readerFingerprint(READER_LIMITS),
        offload: openOffload(),
      },
      {
        rebuild,
        pruneOfEmptyRoot: "never",
        signal: new AbortController().signal,
        onProgress: () => undefined,
      },
    );
  } finally {
    sandbox.close();
  }
}
