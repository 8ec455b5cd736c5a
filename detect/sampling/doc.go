// Package sampling is the statistics of sampled requests: what an estimate leaves
// open, as an interval to show and as a bound to decide by.
//
// A request sampled at the rate p stands for 1/p requests. An [Estimate] is the sum
// of what samples stand for, with the variance that follows. Its interval of 95% is
// shown; a verdict is decided by the bound that holds with 1 − 10⁻⁶, since a 95%
// bound on each of a day's 86,400 seconds would page without cause many times a day.
// Single seconds of a key with few samples prove little; [Means] of 10 and 60
// seconds prove more.
//
// The intervals take sampled requests for independent draws. Where an application
// samples calls that carry several items, they are too narrow.
package sampling
