import { findNamedFiles } from "./find-named-files.ts";
import type { KnownFiles } from "./known-files.ts";
import { matchTrigger } from "../../../shared/match-trigger.ts";

/**
 * file: the question names files, and only a read of them admits an answer. whole_file: the read must also be
 * complete. passages: a read or the passages of the index admit one.
 */
export type Classification = {
  readonly need: "file" | "whole_file" | "passages";
  readonly namedFiles: readonly string[];
  /** What made the whole file needed: the option or a trigger. */
  readonly wholeBecause: string | null;
};

export type Classified = Classification & {
  /** Paths of files but for which the question would name others, or none. */
  readonly knownFiles: readonly string[];
};

export type ClassifySettings = {
  /** With the leading dot, lower case. */
  readonly allowedExts: readonly string[];
  /** Words and phrases that ask for a summary, and so for the whole of a file. */
  readonly summaryTriggers: readonly string[];
  /** Words and phrases that ask for depth. */
  readonly fullTriggers: readonly string[];
  /** The `full` option of the job. */
  readonly extent: "full" | "as_needed";
};

/**
 * What evidence a question needs before it may be answered. Triggers count as whole words.
 *
 * @param knownFiles gives the files that may be read; it is called only for a question that may name one
 */
export async function classifyQuestion(
  question: string,
  settings: ClassifySettings,
  knownFiles: () => Promise<KnownFiles>,
): Promise<Classified> {
  const { allowedExts, summaryTriggers, fullTriggers, extent } = settings;
  const { names, rest, ...found } = await findNamedFiles(question, allowedExts, knownFiles);
  if (names.length === 0) {
    return { need: "passages", namedFiles: [], wholeBecause: null, knownFiles: found.knownFiles };
  }
  const wholeBecause =
    extent === "full" ? "option full" : matchTrigger(rest, [...summaryTriggers, ...fullTriggers]);
  return {
    need: wholeBecause === null ? "file" : "whole_file",
    namedFiles: names,
    wholeBecause,
    knownFiles: found.knownFiles,
  };
}
