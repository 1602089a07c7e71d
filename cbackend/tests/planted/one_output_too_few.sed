s/^    return of->skip = published(ring) - vp_page_handed_over(page, number);/    of->skip = published(ring) - vp_page_handed_over(page, number); return of->skip -= of->skip > 1;/
