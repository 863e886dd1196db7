export function waitUntil(ask: () => Promise<boolean>, limitMs: number): Promise<boolean>;
