/**
 * An error as a log shows it. pg hangs its whole client on the error of an idle connection, and with it the statements
 * that waited there and their values, which may hold text of documents.
 * @param serialized what pino makes of the error
 */
export const loggedError = (
  serialized: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(serialized).filter(([name]) => name !== "client"));
