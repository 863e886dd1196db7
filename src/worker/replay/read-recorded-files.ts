import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";
import type { ChangedSource } from "./changed-source.ts";

export type RecordedFiles =
  | { readonly kind: "files"; readonly texts: ReadonlyMap<string, string> }
  | { readonly kind: "changed"; readonly files: readonly ChangedSource[] };

/** The most that one read through the sandbox gives. */
const MOST_CHARS = 10_000_000;

type Reference = { readonly path: string; readonly sha256: string };

/** Reads again, through the sandbox, every file that the run's evidence, reads and prompts refer to. */
export async function readRecordedFiles(
  run: Pick<RunDetail, "evidence" | "tool_calls" | "calls">,
  sandbox: Pick<Sandbox, "readTextFile">,
): Promise<RecordedFiles> {
  const texts = new Map<string, string>();
  const changed: ChangedSource[] = [];
  for (const { path, sha256 } of referencesOf(run)) {
    const reading = await sandbox.readTextFile({ path, lookup: "exact", maxChars: MOST_CHARS });
    if (reading.kind === "refused") {
      changed.push({ path, reason: reading.code, message: reading.message });
    } else if (reading.sha256 !== sha256) {
      const message = `sha256 ${sha256} then, ${reading.sha256} now`;
      changed.push({ path, reason: "changed", message });
    } else {
      texts.set(path, reading.text);
    }
  }
  return changed.length > 0 ? { kind: "changed", files: changed } : { kind: "files", texts };
}

/** Each file once, in the order of the record; a file that was found in two states stands there twice. */
function referencesOf({
  evidence,
  tool_calls: toolCalls,
  calls,
}: Parameters<typeof readRecordedFiles>[0]): readonly Reference[] {
  const all = [
    ...evidence,
    ...toolCalls.flatMap(({ result }) => (isReference(result) ? [result] : [])),
    ...calls.flatMap(({ prompt }) => prompt.evidence),
  ];
  const distinct = new Map(all.map(({ path, sha256 }) => [`${path}\n${sha256}`, { path, sha256 }]));
  return [...distinct.values()];
}

const isReference = (result: Readonly<Record<string, unknown>> | null): result is Reference =>
  typeof result?.["path"] === "string" && typeof result["sha256"] === "string";
