import type { Database } from "../../shared/store/connection/database.ts";
import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import type { DigestChild } from "../answer/digest-items.ts";
import { loadChildren } from "../jobs/digest.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";
import type { ChangedSource } from "./changed-source.ts";
import { compareChildren } from "./compare-children.ts";
import { readRecordedFiles } from "./read-recorded-files.ts";
import type { RepeatableInput } from "./repeatable-input.ts";

export type RecordedSources =
  | {
      readonly kind: "unchanged";
      /** The words of files by path. */
      readonly texts: ReadonlyMap<string, string>;
      /** Of a digest, which reads no files. */
      readonly children: readonly DigestChild[];
    }
  | {
      readonly kind: "changed";
      readonly what: "files" | "jobs";
      readonly sources: readonly ChangedSource[];
    };

type Places = { readonly database: Database; readonly sandbox: () => Promise<Sandbox> };

/** What a run rests on, looked at again: files through the sandbox, for a digest what the rows of its jobs say. */
export async function readRecordedSources(
  run: RunDetail,
  input: RepeatableInput,
  { database, sandbox }: Places,
): Promise<RecordedSources> {
  if (input.kind === "digest") {
    const children = await loadChildren(run.job_id, database);
    const sources = compareChildren(run, children);
    if (sources.length > 0) return { kind: "changed", what: "jobs", sources };
    return { kind: "unchanged", texts: new Map(), children };
  }
  const files = await readRecordedFiles(run, await sandbox());
  return files.kind === "changed"
    ? { kind: "changed", what: "files", sources: files.files }
    : { kind: "unchanged", texts: files.texts, children: [] };
}
