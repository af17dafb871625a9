package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// parseCPUSet reads the kernel's list format, e.g. "0-3,8".
func parseCPUSet(list string) ([]int, error) {
	seen := map[int]bool{}
	for _, part := range strings.Split(strings.TrimSpace(list), ",") {
		if part == "" {
			continue
		}
		first, last, isRange := strings.Cut(part, "-")
		lo, err := strconv.Atoi(first)
		if err != nil {
			return nil, fmt.Errorf("bad CPU list %q", list)
		}
		hi := lo
		if isRange {
			if hi, err = strconv.Atoi(last); err != nil || hi < lo {
				return nil, fmt.Errorf("bad CPU list %q", list)
			}
		}
		for cpu := lo; cpu <= hi; cpu++ {
			seen[cpu] = true
		}
	}
	cpus := make([]int, 0, len(seen))
	for cpu := range seen {
		cpus = append(cpus, cpu)
	}
	sort.Ints(cpus)
	return cpus, nil
}

// formatCPUSet writes sorted CPUs in the kernel's list format.
func formatCPUSet(cpus []int) string {
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, strconv.Itoa(cpus[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", cpus[i], cpus[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// formatCPUMask writes CPUs in the kernel's mask format: 32-bit words in hex, the highest first.
func formatCPUMask(cpus []int, total int) string {
	words := make([]uint32, (total+31)/32)
	for _, cpu := range cpus {
		words[cpu/32] |= 1 << (cpu % 32)
	}
	parts := make([]string, len(words))
	for i, word := range words {
		parts[len(words)-1-i] = fmt.Sprintf("%08x", word)
	}
	return strings.Join(parts, ",")
}
