import type { CallResult } from "../../shared/store/schedules/hook-calls.ts";

/** How one try went. `may_try_again`: nobody was told, for a reason that may pass. */
export type TryResult = Pick<CallResult, "status" | "error"> & {
  readonly kind: "told" | "may_try_again" | "refused";
};
