/** A parameter for the record of builds. It outlives the processes of the function. */
import { decodeRecord, encodeRecord } from '../../../lambda/adapters/parameters/record-codec.ts';
import type { RecordStore, StockRecord } from '../../../lambda/look/stock/stock-record.ts';

export class RecordPort implements RecordStore {
  /** The value of the parameter. */
  text = '';

  async read(): Promise<StockRecord | undefined> {
    return decodeRecord(this.text);
  }

  async write(record: StockRecord): Promise<void> {
    this.text = encodeRecord(record) ?? this.text;
  }
}
