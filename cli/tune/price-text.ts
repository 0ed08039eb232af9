/** Dollars with two decimals, up to four if needed. */
export const priceText = (dollars: number): string =>
  dollars.toLocaleString('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: 4,
    useGrouping: false,
  });
