export interface LocalService {
  readonly url: string;
  readonly from: string;
  readonly stop: () => Promise<void>;
}
export function startLocalRedis(): Promise<LocalService | null>;
