import type { ReaderRights } from "../documents/reader/rights.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** What Node keeps from the process that reads PDF, mail and the like. */
export function checkReader({ withheld }: Pick<ReaderRights, "withheld">): Check {
  const reader = "The process that reads documents with a parser";
  switch (withheld) {
    case "nothing":
      return warn(
        "DOCTOR_READER_UNRESTRICTED",
        `${reader} may do what the user of the worker may: this Node has no permissions.`,
        "Use another build of Node 20.19 or newer, or run the worker in a container.",
      );
    case "files":
      return ok(
        "DOCTOR_READER_OK",
        `${reader} can read no file but its code and packages, write none and start nothing; the network is kept from it by Node 25 or newer alone.`,
      );
    case "files and network":
      return ok(
        "DOCTOR_READER_OK",
        `${reader} can read no file but its code and packages, write none, start nothing and open no connection.`,
      );
  }
}
