/** The parts of echarts that the pictures use. */
import { LineChart, ScatterChart } from 'echarts/charts';
import { GridComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';

use([LineChart, ScatterChart, GridComponent, LabelLayout, SVGRenderer]);

export { init };
