import type { Kind } from "../../../shared/job.ts";

/** A job that a digest is of, as it ended. */
export type DigestChild = {
  readonly jobId: string;
  readonly kind: Kind;
  readonly state: string;
  readonly errorCode: string | null;
  /** The file, or what a digest is of. */
  readonly path: string;
  /** What it said, without footer and citations; null unless it succeeded. */
  readonly words: string | null;
  /** Of a digest: what it had to leave out. */
  readonly leftOut: readonly LeftOut[];
};

/** What a digest could not tell of, and why: a stored form. */
export type LeftOut = {
  readonly path: string;
  readonly kind: string;
  readonly state: string;
  readonly error_code: string | null;
  readonly job_id: string;
};
