import { invalid } from "./failures.ts";

type Asked = { readonly query: URLSearchParams };

/** The requested size of a page. @throws Refused 400 */
export function limitOf({ query }: Asked, usual: number, most: number): number {
  const text = query.get("limit");
  if (text === null) return usual;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= most) return limit;
  throw invalid("limit", `limit must be a whole number from 1 to ${most}.`);
}

/** A page of a list in OpenAI's format. @param found one more than the limit if there is a next page */
export function listObject(found: readonly { readonly id: string }[], limit: number): object {
  const data = found.slice(0, limit);
  return {
    ...{ object: "list", data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
    has_more: found.length > limit,
  };
}
