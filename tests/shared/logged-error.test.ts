import { expect, test } from "@jest/globals";
import { pino } from "pino";
import { loggedError } from "../../src/shared/logger.ts";

test("the error of a lost connection is logged without the client that pg hangs on it", () => {
  const lost = Object.assign(new Error("Connection terminated unexpectedly"), {
    code: "ECONNRESET",
    client: { _queryQueue: [{ values: ["words of a document"] }] },
  });
  const logged = loggedError(pino.stdSerializers.err(lost));
  expect(logged).toEqual({
    type: "Error",
    message: "Connection terminated unexpectedly",
    stack: expect.stringContaining("logged-error.test"),
    code: "ECONNRESET",
  });
});
