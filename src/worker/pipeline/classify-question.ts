import { findNamedFiles } from "./find-named-files.ts";
import { matchTrigger } from "./match-trigger.ts";

/**
 * file: the question names files, and only a read of them admits an answer. whole_file: the read must also be
 * complete. passages: a read or the passages of the index admit one.
 */
export type Classification = {
  readonly need: "file" | "whole_file" | "passages";
  readonly namedFiles: readonly string[];
  /** What made the whole file needed: the option, a trigger, or the word for a summary. */
  readonly wholeBecause: string | null;
};

type ClassifySettings = {
  readonly allowedExts: readonly string[];
  /** Words that ask for depth; matched as whole words. */
  readonly fullTriggers: readonly string[];
  /** The `full` option of the job. */
  readonly extent: "full" | "as_needed";
};

const SUMMARY_WORDS = ["summarize", "summarise", "summarized", "summarised", "summary"];

/** What evidence a question needs before it may be answered. Pure. */
export function classifyQuestion(question: string, settings: ClassifySettings): Classification {
  const namedFiles = findNamedFiles(question, settings.allowedExts);
  const wholeBecause =
    settings.extent === "full"
      ? "option full"
      : matchTrigger(question, [...SUMMARY_WORDS, ...settings.fullTriggers]);
  if (namedFiles.length === 0) return { need: "passages", namedFiles, wholeBecause: null };
  return { need: wholeBecause === null ? "file" : "whole_file", namedFiles, wholeBecause };
}
