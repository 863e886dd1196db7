import { setFlagsFromString } from "node:v8";

const SETTING = "--heap-growing-percent";
/** A share of what lives, in percent. V8's own choice is up to three times of it. */
const MOST_GARBAGE = 100;

/**
 * Runs the body while garbage is collected before there is more of it than of what lives. What a scan holds is small and
 * hardly grows with the number of files, but all that it reads becomes garbage. Measured cold, 2,000 and 20,000 files: left
 * to V8 the process takes 249 and up to 340 MiB at its peak, so 199 and up to 240, for 7 % more of the processor's time; 50
 * would save another 15 MiB for another 10 %.
 */
export async function collectEarly<T>(body: () => Promise<T>): Promise<T> {
  setFlagsFromString(`${SETTING}=${MOST_GARBAGE}`);
  try {
    return await body();
  } finally {
    // 0 is V8's own choice. Another scan in this process goes on with that, which is no harm.
    setFlagsFromString(`${SETTING}=0`);
  }
}
