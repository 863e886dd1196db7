/** SQLSTATE classes of what the data itself is refused for: data exception, constraint, cardinality, program limit. */
const REFUSED_DATA = /^(?:21|22|23|54)/;
/** A deadlock or a failed serialization: the same may be tried again. */
const CONFLICT = /^40/;
/** A conflict needs another scan of the same source at the same moment; each try lets the other one get on. */
const TRIES = 5;

/** Whether the database refused the data of a statement, which will not go better the next time. */
export const isRefusedData = (error: unknown): error is { readonly code: string } =>
  hasSqlState(error, REFUSED_DATA);

/** Runs a transaction again when it lost against another one. */
export async function retryConflicts(transaction: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await transaction();
      return;
    } catch (error) {
      if (tries === TRIES || !hasSqlState(error, CONFLICT)) throw error;
    }
  }
}

const hasSqlState = (error: unknown, states: RegExp): boolean =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  typeof error.code === "string" &&
  error.code.length === 5 &&
  states.test(error.code);
