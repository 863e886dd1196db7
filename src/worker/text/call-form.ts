/** A call as a reply writes it in our own form. */
export const textOfCall = (name: string, args: object): string =>
  JSON.stringify({ type: "tool_call", name, args });
