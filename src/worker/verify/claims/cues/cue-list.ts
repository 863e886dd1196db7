/** What a cue says of its clause. The same names in every language: a claim and its sentence may differ in it. */
export type CueClass =
  | "not"
  | "all"
  | "only"
  | "most"
  | "some"
  | "often"
  | "except"
  | "condition"
  | "atLeast"
  | "atMost"
  | "over"
  | "under"
  | "plan"
  | "maybe"
  | "done"
  | "cause"
  | "before"
  | "after"
  | "first"
  | "last"
  | "instead"
  | "than"
  | "extreme"
  | "must"
  | "can"
  /** Phrases that say none of what a word of them says alone: "so far". */
  | "neutral";

/** By class, words and phrases in small letters and without accents, with bars between them. */
export type CueList = Readonly<Record<CueClass, string>>;
