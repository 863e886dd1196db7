import type { z } from "zod";

/**
 * The expected value, to follow "expected" or "must be"; undefined for rules with a text of their own. zod calls its error map
 * where the schema gives no text.
 */
export function expectationOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return TYPE_NAMES[issue.expected] ?? issue.expected;
    case "invalid_value":
      return `one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return minimumOf(issue);
    case "too_big":
      return maximumOf(issue);
    case "custom":
    case "invalid_element":
    case "invalid_format":
    case "invalid_key":
    case "invalid_union":
    case "not_multiple_of":
    case "unrecognized_keys":
      return undefined;
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  number: "a number",
  object: "a mapping of keys",
  record: "a mapping of keys",
  string: "text",
};

function minimumOf({
  origin,
  minimum,
  inclusive,
}: Pick<z.core.$ZodIssueTooSmall, "origin" | "minimum" | "inclusive">): string {
  if (origin === "string") return "text that is not blank";
  if (origin === "array") return "at least one entry";
  return `${inclusive === false ? "more than" : "at least"} ${String(minimum)}`;
}

const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " entries" };

const maximumOf = ({
  origin,
  maximum,
}: Pick<z.core.$ZodIssueTooBig, "origin" | "maximum">): string =>
  `at most ${String(maximum)}${UNITS[origin] ?? ""}`;

/** zod's error map for lines of files and bodies of requests: the problem, to follow the key. */
export function ruleWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "unrecognized_keys")
    return `has the key ${JSON.stringify(issue.keys[0])}, which means nothing here`;
  if (issue.code === "invalid_union") return "is of none of the forms that it may have";
  if (issue.code === "invalid_type" && issue.input === undefined) return "is missing";
  const expectation = expectationOf(issue);
  return expectation === undefined ? undefined : `must be ${expectation}`;
}

/** The message of an issue with its key: `question: must be text`, `path is missing`. */
export function issueText({ path, message }: z.core.$ZodIssue): string {
  const key = path.map(String).join(".");
  return key === "" ? message : `${key}${/^(?:is|has) /.test(message) ? "" : ":"} ${message}`;
}
