/** SQLSTATE classes that refuse the data itself: cardinality, data exception, constraint, program limit. */
const REFUSED_DATA = /^(?:21|22|23|54)/;
/** A deadlock or a failed serialization: the same transaction may be tried again. */
const CONFLICT = /^40/;
/** Only another scan of the same source at the same moment causes a conflict; each try lets the other scan proceed. */
const TRIES = 5;

/** Whether the database refused the data of a statement, so that a repeat would fail as well. */
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
