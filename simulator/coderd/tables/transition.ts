/** What a build makes of a workspace. */
export type Transition = 'start' | 'stop' | 'delete';
