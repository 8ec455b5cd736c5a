package bucket

import "fmt"

// Prices in US East (N. Virginia), of 2026, for S3 Standard (aws.amazon.com/s3/pricing).
// Other Regions and storage classes differ. The prices of transfer to the internet are for
// the first 10 TB a month; 100 GB of them are free.
const (
	dollarsPerGet              = 0.0004 / 1000
	dollarsPerList             = 0.005 / 1000
	dollarsPerGBBetweenRegions = 0.02
	dollarsPerGBToInternet     = 0.09
)

func requestCost(gets, lists int64) float64 {
	return float64(gets)*dollarsPerGet + float64(lists)*dollarsPerList
}

// gigabytes converts bytes to charged gigabytes of 2^30 bytes.
func gigabytes(bytes int64) float64 { return float64(bytes) / (1 << 30) }

func size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GB", gigabytes(bytes))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", bytes)
}
