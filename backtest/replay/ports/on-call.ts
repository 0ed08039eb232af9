/** Told of each request. */
export type OnCall = (api: 'coderd' | 'ecs', requests: number) => void;
