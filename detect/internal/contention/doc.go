// Package contention judges whether the requests of an item take attempts from each other: at least
// [detect.ContendedRate] lost attempts a second and [detect.ContendedShare] of all attempts, for a
// minute. Shares and rates of sampled requests decide by their lower bounds.
package contention
