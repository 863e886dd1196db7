/** What a scan has done so far, in documents but for the last. */
export type Tally = {
  readonly documents_seen: number;
  readonly unchanged: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Failures that are known of; a file whose frontmatter is dangerous has one, and is indexed as text. */
  readonly failed: number;
  readonly chunks_written: number;
  /** Changed, though size, times and inode are those of before: a disk that loses bits, or somebody who hides it. */
  readonly silently_changed: number;
};

export type Progress = {
  readonly documentsDone: number;
  /** Of the sources listed so far. */
  readonly documentsTotal: number;
  readonly tally: Tally;
};

export const noProgress = (): Progress => ({
  documentsDone: 0,
  documentsTotal: 0,
  tally: {
    documents_seen: 0,
    unchanged: 0,
    added: 0,
    changed: 0,
    removed: 0,
    failed: 0,
    chunks_written: 0,
    silently_changed: 0,
  },
});

export function addTally(tally: Tally, more: Partial<Tally>): Tally {
  const sum = (key: keyof Tally) => tally[key] + (more[key] ?? 0);
  return {
    documents_seen: sum("documents_seen"),
    unchanged: sum("unchanged"),
    added: sum("added"),
    changed: sum("changed"),
    removed: sum("removed"),
    failed: sum("failed"),
    chunks_written: sum("chunks_written"),
    silently_changed: sum("silently_changed"),
  };
}
