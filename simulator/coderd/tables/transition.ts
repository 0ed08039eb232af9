/** The kind of a workspace build. */
export type Transition = 'start' | 'stop' | 'delete';
