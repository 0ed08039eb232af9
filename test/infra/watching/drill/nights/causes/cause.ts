/** What goes wrong in a night of the drill. */
import type { LabOptions, LabPool } from '../../../../../support/lab.ts';
import type { Night } from '../night.ts';

export type Cause = {
  /** In a few words, as one would write it into an incident's title. */
  readonly cause: string;
  /** @default one pool of four without tags */
  readonly pools?: readonly LabPool[];
  readonly options?: Omit<Partial<LabOptions>, 'pools'>;
  /** Of the configuration file, beside those of the lab. */
  readonly settings?: object;
  /** Before the first minute. */
  readonly prepare?: (night: Night) => void;
  /** Minutes that are played before it begins. @default 6 */
  readonly before?: number;
  readonly begin: (night: Night) => unknown;
  /** What the person does who has found it. */
  readonly mend: (night: Night) => unknown;
  /** The same in words. */
  readonly act: string;
  /** The words of `status` or `doctor` that lead to it. */
  readonly words: RegExp;
  /** The alarms that notify, in order of time. */
  readonly rings: readonly string[];
  /** Why no mail comes although alarms go off. */
  readonly unsent?: string;
  /** Minutes until a person mends it. @default 40 */
  readonly lasts?: number;
  /** Minutes that are played afterwards. @default 75 */
  readonly after?: number;
};
