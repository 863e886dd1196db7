import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import type { Passage } from "../evidence/types.ts";
import { sliceCodePoints } from "./slice-code-points.ts";

/** The snapshot of a run as its evidence rows hold it, in rank order, with the words of the files. */
export const recordedPassages = (
  evidence: RunDetail["evidence"],
  texts: ReadonlyMap<string, string>,
): readonly Passage[] =>
  evidence.flatMap((row) => {
    const text = texts.get(row.path);
    if (row.chunk_key === null || text === undefined) return [];
    return [
      {
        chunkKey: row.chunk_key,
        source: row.source ?? "",
        path: row.path,
        sha256: row.sha256,
        docChars: row.chars_full,
        truncated: row.truncated,
        headingPath: row.heading_path,
        // For a model without language alone, and its reply is on record.
        title: null,
        startChar: row.start_char,
        endChar: row.end_char,
        lineStart: row.line_start,
        lineEnd: row.line_end,
        text: sliceCodePoints(text, row.start_char, row.end_char),
        score: row.score ?? 0,
        lexicalScore: null,
      },
    ];
  });
