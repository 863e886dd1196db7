/** Whether this is an error of the operating system with that code, such as `ENOENT`. */
export const hasCode = (error: unknown, code: string): boolean =>
  // Not instanceof: an error of another realm, as under a test runner, is none of ours.
  typeof error === "object" && error !== null && "code" in error && error.code === code;

/** SQLSTATE with which the embedded database refuses a dump over a file that is there. */
export const DUPLICATE_FILE = "58P02";
