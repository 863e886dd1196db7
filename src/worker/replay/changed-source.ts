/** Something that a run rests on, a file or the job that a digest tells of, and that is not as it was. */
export type ChangedSource = {
  readonly path: string;
  /** In a word: changed, the code with which the sandbox refuses a file now, or what became of a job. */
  readonly reason: string;
  readonly message: string;
};
