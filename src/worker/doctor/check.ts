/** One line of the doctor's report. */
export type Check = {
  /** `warn` does not change the exit code. */
  readonly level: "ok" | "warn" | "fail";
  /** Stable, DOCTOR_…; a passing check ends in _OK. */
  readonly code: string;
  readonly message: string;
  /** What to do; null for a passing check. */
  readonly fix: string | null;
};

export const ok = (code: string, message: string): Check => ({
  level: "ok",
  code,
  message,
  fix: null,
});
export const warn = (code: string, message: string, fix: string): Check => ({
  level: "warn",
  code,
  message,
  fix,
});
export const fail = (code: string, message: string, fix: string): Check => ({
  level: "fail",
  code,
  message,
  fix,
});

/** The message of an error, for a check. */
export const wordsOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
