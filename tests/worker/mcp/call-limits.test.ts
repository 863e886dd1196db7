import { expect, test } from "@jest/globals";
import { Failure } from "../../../src/shared/failure.ts";
import { withinTime } from "../../../src/worker/mcp/call-limits.ts";

test("work that takes too long is a typed failure", async () => {
  const never = new Promise<never>(() => undefined);
  await expect(withinTime(never, 5)).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
  await expect(withinTime(Promise.resolve(1), 5)).resolves.toBe(1);
  const broken = Promise.reject(new Failure("NOT_FOUND", "none"));
  await expect(withinTime(broken, 5)).rejects.toMatchObject({ code: "NOT_FOUND" });
});
