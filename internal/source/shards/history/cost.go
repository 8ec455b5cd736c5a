package history

// FreeRequests is how many GetRecords requests a month are free in an account and Region.
// DynamoDB charges each further one, empty or not. Other requests to a stream are free, and
// so are the requests of Lambda triggers (Developer Guide, "Evaluate your Streams usage").
const FreeRequests = 2_500_000

// dollarsPerRequest is the price in US East (N. Virginia), of 2026: $0.02 for 100,000
// streams read request units (aws.amazon.com/dynamodb/pricing). Other Regions differ.
const dollarsPerRequest = 0.02 / 100_000

// Dollars returns the price of GetRecords requests in US East (N. Virginia), beyond the
// free ones.
func Dollars(requests int64) float64 { return float64(requests) * dollarsPerRequest }
