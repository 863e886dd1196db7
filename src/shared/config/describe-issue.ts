import type { z } from "zod";

/**
 * What a key should have held, to follow "expected": zod's error map for the configuration. A text that the
 * schema gives itself comes first; zod asks here for the others.
 */
export function describeExpectation(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return TYPE_NAMES[issue.expected] ?? issue.expected;
    case "invalid_value":
      return `one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return describeMinimum(issue);
    case "too_big":
      return `at most ${String(issue.maximum)}`;
    // Rules with a text of their own, and unknown keys, which are described elsewhere.
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

function describeMinimum({
  origin,
  minimum,
  inclusive,
}: Pick<z.core.$ZodIssueTooSmall, "origin" | "minimum" | "inclusive">): string {
  if (origin === "string") return "text that is not blank";
  if (origin === "array") return "at least one entry";
  return `${inclusive === false ? "more than" : "at least"} ${String(minimum)}`;
}
