export function readProcess(): Map<string, unknown>;
export function namesOfChanges(before: Map<string, unknown>, after: Map<string, unknown>): string[];
