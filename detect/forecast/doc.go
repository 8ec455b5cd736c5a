// Package forecast follows the growth of a key's peaks over weeks, and predicts when they
// reach a partition's limit.
//
// [New] takes the highest second of each hour and returns a forecast only if the data
// prove growth. They must span three weeks. A mere step is no growth, nor is the rhythm
// of the day or the week. [Apply] puts the forecast into a finding, and adds to its
// advice the shards for the growth of the next 90 days.
//
// The forecast is linear; exponential growth reaches the limit earlier.
package forecast
