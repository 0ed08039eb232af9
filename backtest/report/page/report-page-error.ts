/** The report page does not have the element or the data that its script expects. */
export class ReportPageError extends Error {
  override readonly name = 'ReportPageError';
}
