import { resolve } from "node:path";
import { given } from "./choose-config-file.ts";
import type { ConfigRequest } from "./choose-config-file.ts";
import { configFailure, quote } from "./problem.ts";
import { readSmallFile } from "./read-small-file.ts";

const MAX_BYTES = 64 * 1024;

/**
 * A variable, or the content of the file that its `_FILE` variant names, without the newlines at its end. Blank
 * variables count as not set.
 *
 * @throws Failure CONFIG_ERROR where both are set, or the file is missing, empty or no text
 */
export async function readVariable(
  name: string,
  { env, cwd }: ConfigRequest,
): Promise<ReturnType<typeof given>> {
  const value = given(env[name], `environment ${name}`);
  const pointer = given(env[`${name}_FILE`], `environment ${name}_FILE`);
  if (pointer === null) return value;
  const place = { origin: pointer.origin };
  if (value !== null) {
    throw configFailure([{ place, text: `${name} is set as well; expected only one of the two` }]);
  }
  const content = await readSmallFile(resolve(cwd, pointer.value), MAX_BYTES);
  const secret = content.kind === "text" ? content.text.replace(/(?<![\r\n])[\r\n]+$/, "") : "";
  if (secret.trim() !== "") return { value: secret, origin: pointer.origin };
  const reason =
    content.kind === "unreadable"
      ? content.reason
      : content.kind === "missing"
        ? "does not exist"
        : "is empty";
  const text = `the file ${quote(pointer.value)} ${reason}; expected a file that holds the value of ${name}`;
  throw configFailure([{ place, text }]);
}
