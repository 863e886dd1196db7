export function findFreePort(): Promise<number>;
export function isListening(port: number): Promise<boolean>;
