//go:build !amd64

package position

const vectors = false

func sumBlocks(*[blockWords][BatchSize]uint32, *[64][8]uint32, *[2][BatchSize]uint32) {}
