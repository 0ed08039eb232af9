/** Called with the number of requests of each call. */
export type OnCall = (api: 'coderd' | 'ecs', requests: number) => void;
